export { LogPanel as default } from '#components/devboxes/log/log-panel.tsx'
