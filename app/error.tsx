'use client'
import { PageFailure, type PageFailureProps } from '#components/layout/page-failure.tsx'

export default function RootError(props: PageFailureProps) {
  return (
    <main className="mx-auto max-w-2xl pt-[12dvh]">
      <PageFailure {...props} />
    </main>
  )
}
