'use client'
import { Banner } from '#components/ui/banner.tsx'
import { ButtonLink } from '#components/ui/button.tsx'
import { paths } from '#lib/browser/address/paths.ts'

/** On every page while calls reach the console and no live connection does. */
export const HeldBack = () => (
  <Banner
    tone="attention"
    role="status"
    className="border-x-0 border-t-0 md:px-6"
    title="No live connection can be had: something on the way, such as a proxy, holds it back"
    actions={
      <ButtonLink size="sm" href={paths.settings()} prefetch={false}>
        Find out why
      </ButtonLink>
    }
  >
    Evictions and alerts are asked for every few seconds in its place. Output, logs, events and terminals wait for it.
  </Banner>
)
