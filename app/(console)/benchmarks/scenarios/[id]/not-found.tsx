export { ScenarioMissing as default } from '#components/benchmarks/scenarios/scenario-missing.tsx'
