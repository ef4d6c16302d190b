export { AxonMissing as default } from '#components/axons/axon-missing.tsx'
