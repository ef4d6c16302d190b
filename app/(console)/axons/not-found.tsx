import { MissingPage } from '#components/layout/missing-page.tsx'

/** Sits above [id], whose layout calls notFound(). */
export default function NotFound() {
  return <MissingPage kind="axon" />
}
