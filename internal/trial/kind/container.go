package kind

import (
	"cmp"
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// readContainer is what an implementation or a dependency gets beside its image and its command.
func readContainer(i v1alpha1.ContainerSettings, ready v1alpha1.Readiness) record.Container {
	c := record.Container{
		Args: slices.Clone(i.Args), User: i.User, Group: i.Group, Readiness: record.Readiness{Path: ready.Path, Seconds: ready.TimeoutSeconds},
	}
	for _, v := range i.Env {
		config, secret := v.ValueFrom.ConfigMapKeyRef, v.ValueFrom.SecretKeyRef
		own := record.Variable{Name: v.Name, From: record.Object{ConfigMap: config.Name, Secret: secret.Name}, Key: cmp.Or(config.Key, secret.Key)}
		if v.Value != nil {
			own.Value = *v.Value
		}
		c.Env = append(c.Env, own)
	}
	for _, e := range i.EnvFrom {
		c.EnvFrom = append(c.EnvFrom, record.VariableSource{Kind: string(e.Kind), Name: e.Name, Prefix: e.Prefix})
	}
	for _, f := range i.Files {
		c.Files = append(c.Files, record.FileMount{Path: f.Path, From: record.Object{ConfigMap: f.ConfigMap.Name, Secret: f.Secret.Name}})
	}
	for _, s := range i.Scratch {
		own := record.Scratch{Path: s.Path}
		if s.Size != nil {
			own.Bytes = s.Size.Value()
		}
		c.Scratch = append(c.Scratch, own)
	}
	for _, r := range i.Resources {
		own := record.Resource{Name: r.Name}
		if r.Amount != nil {
			own.Amount = r.Amount.Value()
		}
		c.Resources = append(c.Resources, own)
	}
	for _, s := range i.ImagePullSecrets {
		c.PullSecrets = append(c.PullSecrets, s.Name)
	}
	return c
}
