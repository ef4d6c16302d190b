import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { devboxQueries } from '#components/devboxes/queries.ts'
import { isPort, tunnelAddress } from '#components/devboxes/tunnel-address.ts'
import { loadOnUse } from '#components/ui/overlay/load-on-use.tsx'
import { toast } from '#components/ui/toast.tsx'
import { sessionQueries } from '#lib/browser/queries/session.ts'

const PortDialog = loadOnUse(async () => (await import('./port-dialog.tsx')).PortDialog)

export interface DevboxPort {
  /** Opens what listens on a port of the devbox in a new tab; asks first when that takes making it reachable. */
  open: (port: number, path?: string) => void
  /** To be placed once. */
  dialog: ReactNode
}

/** Ports of a devbox, through its tunnel. An empty id is that of a page whose visitor may not ask for one. */
export const useDevboxPort = (devboxId: string): DevboxPort => {
  const isKnown = devboxId !== ''
  // The page itself asks again for the devbox; each pane doing so, too, would be many times as often.
  const { data: devbox } = useQuery({ ...devboxQueries.get(devboxId), enabled: isKnown, refetchInterval: false })
  const { data: session } = useQuery({ ...sessionQueries.get(), enabled: isKnown })
  const [asked, setAsked] = useState<{ port: number; path: string }>()
  const service = session?.service.url ?? ''

  const open = (port: number, path = '/') => {
    if (!isKnown) return void toast.attention('Only who is signed in can open a port of this devbox')
    if (!isPort(port)) return void toast.attention(`There is no port ${port}`)
    const tunnel = devbox?.tunnel
    const address = tunnel?.auth_mode === 'open' ? tunnelAddress(service, tunnel.tunnel_key, port, path) : null
    if (address) openAddress(address)
    else setAsked({ port, path })
  }
  return {
    open,
    dialog: asked && devbox && session && (
      <PortDialog
        {...asked}
        devbox={devbox}
        service={service}
        onOpen={openAddress}
        onClose={() => setAsked(undefined)}
      />
    ),
  }
}

// The opened page gets no handle on this one, and is not told where it was opened from.
const openAddress = (address: string) => window.open(address, '_blank', 'noopener,noreferrer')
