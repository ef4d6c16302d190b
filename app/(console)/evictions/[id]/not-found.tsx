import { MissingPage } from '#components/layout/missing-page.tsx'

export default () => <MissingPage kind="alert" />
