package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// errands are what the operator's image does for the chart's hooks.
var errands = map[string]func(context.Context, []string) error{"await": await, "retire": retire}

// errandClient reads and writes Loadstone's own objects, with the rights of the hook.
func errandClient() (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("registering types: %w", err)
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return c, nil
}
