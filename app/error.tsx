'use client'
import { PageError, type PageErrorProps } from '#components/layout/page-error.tsx'

export default function RootError(props: PageErrorProps) {
  return (
    <main className="mx-auto max-w-2xl pt-[12dvh]">
      <PageError {...props} />
    </main>
  )
}
