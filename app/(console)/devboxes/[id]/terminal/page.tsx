export { DevboxTerminal as default } from '#components/devboxes/terminal-tab.tsx'
