-- How Argo CD reads the health of a BenchmarkSuite: resource.customizations.health.loadstone.dev_BenchmarkSuite in argocd-cm.
local health = { status = "Progressing", message = "Waiting for the operator" }
if obj.status == nil or obj.status.conditions == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return health
end
local by = {}
for _, condition in ipairs(obj.status.conditions) do
  by[condition.type] = condition
end
local ready, reconciling, stalled = by["Ready"], by["Reconciling"], by["Stalled"]
if stalled ~= nil and stalled.status == "True" then
  return { status = "Degraded", message = stalled.message }
end
if reconciling ~= nil and reconciling.status == "True" then
  return { status = "Progressing", message = reconciling.message }
end
if ready == nil then
  return health
end
if ready.status == "True" then
  return { status = "Healthy", message = ready.message }
end
if ready.reason == "Suspended" then
  return { status = "Suspended", message = ready.message }
end
health.message = ready.message
return health
