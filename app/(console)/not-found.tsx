export { NoSuchPage as default } from '#components/layout/no-such-page.tsx'
