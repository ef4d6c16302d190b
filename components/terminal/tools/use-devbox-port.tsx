import { useQuery } from '@tanstack/react-query'
import dynamic from 'next/dynamic'
import { type ReactNode, useState } from 'react'
import { devboxQueries } from '#components/devboxes/queries.ts'
import { isPort, tunnelAddress } from '#components/devboxes/tunnel-address.ts'
import { sessionQueries } from '#components/layout/session-queries.ts'
import { toast } from '#components/ui/toast.tsx'

const PortDialog = dynamic(async () => (await import('./port-dialog.tsx')).PortDialog)

export interface DevboxPort {
  /** Opens a port in a new tab, and asks first if that requires a tunnel. */
  open: (port: number, path?: string) => void
  /** Render this once. */
  dialog: ReactNode
}

/** Opens ports of a devbox through its tunnel. An empty id disables it for visitors with a link. */
export const useDevboxPort = (devboxId: string): DevboxPort => {
  const isKnown = devboxId !== ''
  // The page already polls the devbox.
  const { data: devbox } = useQuery({ ...devboxQueries.get(devboxId), enabled: isKnown, refetchInterval: false })
  const { data: session } = useQuery({ ...sessionQueries.get(), enabled: isKnown })
  const [asked, setAsked] = useState<{ port: number; path: string }>()
  const service = session?.service.url ?? ''

  const open = (port: number, path = '/') => {
    if (!isKnown) return void toast.attention('Sign in to open ports of this devbox')
    if (!isPort(port)) return void toast.attention(`Invalid port ${port}`)
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

// `noopener` and `noreferrer`: the opened page gets no access to this one.
const openAddress = (address: string) => window.open(address, '_blank', 'noopener,noreferrer')
