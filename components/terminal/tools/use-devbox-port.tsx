import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { CommandBlock } from '#components/ui/command-block.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { isLoopback, isPort, tunnelAddress } from '#lib/console/address/tunnel-address.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { sessionQueries } from '#lib/console/queries/session.ts'
import { tunnelMutations } from '#lib/console/queries/tunnels.ts'
import { type Devbox, devboxRefusal } from '#lib/contract/devboxes.ts'
import type { Tunnel } from '#lib/contract/tunnels.ts'

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
      <PortDialog {...asked} devbox={devbox} service={service} onClose={() => setAsked(undefined)} />
    ),
  }
}

interface PortDialogProps {
  port: number
  path: string
  devbox: Devbox
  service: string
  onClose: () => void
}

/** Why a port cannot be opened, or what it takes. */
const PortDialog = ({ port, path, devbox: { id, status, tunnel }, service, onClose }: PortDialogProps) => {
  const enable = useMutation(tunnelMutations.enable())
  const refusal = devboxRefusal('enable_tunnel', status)
  const pattern = tunnelAddress(service, tunnel?.tunnel_key ?? 'key', port)
  if (refusal || !pattern || tunnel)
    return (
      <Dialog open onOpenChange={onClose} size="sm" title={`Port ${port} cannot be opened here`}>
        <div className="space-y-2 text-lg">
          {refusal ? (
            `${refusal}.`
          ) : pattern && tunnel ? (
            <TokenNeeded tunnel={tunnel} address={pattern} />
          ) : (
            `The service is at ${service}, and tunnels need a name: an IP address has none to put before it.`
          )}
        </div>
      </Dialog>
    )
  const enableAndOpen = () =>
    enable.mutate(id, {
      onSuccess: ({ tunnel_key }) => {
        onClose()
        const address = tunnelAddress(service, tunnel_key, port, path)
        if (!address) return
        openAddress(address)
        // Some browsers take the time the service needed for a page that opens windows by itself.
        toast.ok('The devbox has a tunnel now', {
          description: `Port ${port} is at ${address}`,
          action: { label: 'Open', onClick: () => openAddress(address) },
          durationMs: 12_000,
        })
      },
    })
  const isLocal = isLoopback(URL.parse(service)?.hostname ?? '')
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={`Open port ${port} of this devbox?`}
      tone="primary"
      confirmLabel="Enable tunnel and open"
      busy={enable.isPending}
      error={enable.error}
      onConfirm={enableAndOpen}
      consequence={
        <div className="space-y-2">
          <p>
            The devbox has no tunnel yet. With one, every port it listens on, not only {port}, can be reached at{' '}
            <code className="font-mono text-sm break-all">{pattern.replace('-key.', '-{key}.')}</code> without signing
            in by whoever has the address. The key in it is random.
          </p>
          <p>
            {isLocal && 'The service listens on its own machine only, so the address works on that machine alone. '}
            The tunnel stays until it is removed under Ports or the devbox ends.
          </p>
        </div>
      }
    />
  )
}

const TokenNeeded = ({ tunnel: { auth_token }, address }: { tunnel: Tunnel; address: string }) => (
  <>
    <p>
      The tunnel of this devbox asks for a token in a header, which a browser does not send with a link. Its port is at{' '}
      <VisibleText mono>{address}</VisibleText> for programs that do.
    </p>
    {auth_token && /^[\w.~+/=-]+$/.test(auth_token) && (
      <CommandBlock
        label="The request with its token"
        command={`curl -H 'X-Runloop-Tunnel-Authorization: Bearer ${auth_token}' '${address}'`}
      />
    )}
  </>
)

// The page behind it gets no hold on this one, and is not told where it was opened.
const openAddress = (address: string) => window.open(address, '_blank', 'noopener,noreferrer')
