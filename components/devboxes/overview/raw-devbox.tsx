import { CommandBlock } from '#components/ui/command-block.tsx'
import type { Devbox } from '#lib/contract/devboxes.ts'

/** The answer of the service, but for what opens something: it is copied into tickets. */
export const RawDevbox = ({ devbox }: { devbox: Devbox }) => (
  <details>
    <summary className="cursor-pointer text-lg font-medium">Raw JSON</summary>
    <CommandBlock label="JSON" className="mt-3 max-h-[32rem] overflow-auto" command={rawDevbox(devbox)} />
  </details>
)

const rawDevbox = (devbox: Devbox): string => {
  const { tunnel } = devbox
  const shown = tunnel?.auth_token ? { ...devbox, tunnel: { ...tunnel, auth_token: '(not shown)' } } : devbox
  return JSON.stringify(shown, null, 2)
}
