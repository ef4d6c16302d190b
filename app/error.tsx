'use client'
import type { PageFailureProps } from '#components/layout/page-failure.tsx'
import PageError from './(console)/error.tsx'

export default function RootError(props: PageFailureProps) {
  return (
    <main className="mx-auto max-w-2xl pt-[12dvh]">
      <PageError {...props} />
    </main>
  )
}
