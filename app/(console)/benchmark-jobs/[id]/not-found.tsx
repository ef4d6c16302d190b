import { MissingPage } from '#components/layout/missing-page.tsx'

export default function NotFound() {
  return <MissingPage kind="job" />
}
