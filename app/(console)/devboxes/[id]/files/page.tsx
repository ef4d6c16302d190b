export { FilesTab as default } from '#components/files/files-tab.tsx'
