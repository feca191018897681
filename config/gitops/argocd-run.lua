-- The action "run" of Argo CD on a BenchmarkSuite, as loadstone suite run: resource.customizations.actions.loadstone.dev_BenchmarkSuite in argocd-cm.
local os = require("os")
if obj.metadata.annotations == nil then
  obj.metadata.annotations = {}
end
obj.metadata.annotations["loadstone.dev/requestedAt"] = os.date("!%Y-%m-%dT%H:%M:%SZ")
return obj
