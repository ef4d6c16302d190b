export { RunMissing as default } from '#components/benchmarks/run-detail.tsx'
