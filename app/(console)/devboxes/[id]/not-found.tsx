export { DevboxMissing as default } from '#components/devboxes/devbox-detail.tsx'
