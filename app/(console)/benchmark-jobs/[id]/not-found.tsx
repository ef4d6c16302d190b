export { JobMissing as default } from '#components/benchmarks/job-missing.tsx'
