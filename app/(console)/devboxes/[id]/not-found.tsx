export { DevboxMissing as default } from '#components/devboxes/devbox-missing.tsx'
