export { RunMissing as default } from '#components/benchmarks/run-missing.tsx'
