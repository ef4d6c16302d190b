import type { Metadata } from 'next'
import { notFound } from 'next/navigation'

export const metadata: Metadata = { title: 'Not found' }

/** Catches unknown addresses, so that the 404 is shown inside the console frame. */
export default function UnknownPage(): never {
  notFound()
}
