export { JobMissing as default } from '#components/benchmarks/job-detail.tsx'
