export { AxonMissing as default } from '#components/axons/axon-detail.tsx'
