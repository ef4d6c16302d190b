import type { Metadata } from 'next'
import { notFound } from 'next/navigation'

export const metadata: Metadata = { title: 'Not found' }

/** An address that no other page has: said within the frame, from which every page is reached. */
export default function NowherePage(): never {
  notFound()
}
