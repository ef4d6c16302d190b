import { MissingPage } from '#components/layout/missing-page.tsx'

export default function DevboxNotFound() {
  return <MissingPage kind="devbox" />
}
