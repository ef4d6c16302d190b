export { CommandPanel as default } from '#components/commands/command-panel.tsx'
