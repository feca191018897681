-- How Argo CD reads the health of a BenchmarkRun: resource.customizations.health.loadstone.dev_BenchmarkRun in argocd-cm.
local health = { status = "Progressing", message = "Waiting for the operator" }
if obj.status == nil or obj.status.conditions == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return health
end
for _, condition in ipairs(obj.status.conditions) do
  if condition.type == "Succeeded" then
    health.message = condition.reason
    if condition.message ~= nil and condition.message ~= "" then
      health.message = condition.message
    end
    if condition.status == "True" then
      health.status = "Healthy"
    elseif condition.status == "False" then
      health.status = "Degraded"
    elseif condition.reason == "Suspended" then
      health.status = "Suspended"
    end
  end
end
return health
