export { DevboxSnapshots as default } from '#components/snapshots/devbox-snapshots.tsx'
