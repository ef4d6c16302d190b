'use client'
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
import { devboxRefusal } from '#lib/contract/devboxes.ts'
import type { Tunnel } from '#lib/contract/tunnels.ts'

export interface DevboxPort {
  /** Opens what listens on a port of the devbox in a new tab; asks first when that takes making it reachable. */
  open: (port: number, path?: string) => void
  /** To be placed once. */
  dialog: ReactNode
}

interface Asked {
  port: number
  path: string
}

/** Ports of a devbox, through its tunnel. An empty id is that of a page whose visitor may not ask for one. */
export const useDevboxPort = (devboxId: string): DevboxPort => {
  const isKnown = devboxId !== ''
  // The page looks for news of the devbox; each pane doing so, too, would be many times as often.
  const { data: devbox } = useQuery({ ...devboxQueries.get(devboxId), enabled: isKnown, refetchInterval: false })
  const { data: session } = useQuery({ ...sessionQueries.get(), enabled: isKnown })
  const enable = useMutation(tunnelMutations.enable())
  const [asked, setAsked] = useState<Asked>()
  const service = session?.service.url ?? ''
  const tunnel = devbox?.tunnel

  const addressOf = (key: string, { port, path }: Asked) => tunnelAddress(service, key, port, path)

  const open = (port: number, path = '/') => {
    const wanted = { port, path }
    if (!isKnown) return void toast.attention('Only who is signed in can open a port of this devbox')
    if (!isPort(port)) return void toast.attention(`There is no port ${port}`)
    const address = tunnel?.auth_mode === 'open' ? addressOf(tunnel.tunnel_key, wanted) : null
    if (address) return openAddress(address)
    enable.reset()
    setAsked(wanted)
  }

  const enableAndOpen = (wanted: Asked) =>
    enable.mutate(devboxId, {
      onSuccess: ({ tunnel_key }) => {
        setAsked(undefined)
        const address = addressOf(tunnel_key, wanted)
        if (!address) return
        openAddress(address)
        // Some browsers take the time the service needed for a page that opens windows by itself.
        toast.ok('The devbox has a tunnel now', {
          description: `Port ${wanted.port} is at ${address}`,
          action: { label: 'Open', onClick: () => openAddress(address) },
          durationMs: 12_000,
        })
      },
    })

  const close = () => setAsked(undefined)
  const refusal = devbox && devboxRefusal('enable_tunnel', devbox.status)
  return {
    open,
    dialog: asked && devbox && session && (
      <PortDialog
        port={asked.port}
        service={service}
        tunnel={tunnel ?? null}
        refusal={refusal ?? null}
        enable={{ run: () => enableAndOpen(asked), isPending: enable.isPending, error: enable.error }}
        onClose={close}
      />
    ),
  }
}

interface PortDialogProps {
  port: number
  service: string
  tunnel: Tunnel | null
  refusal: string | null
  enable: { run: () => void; isPending: boolean; error: Error | null }
  onClose: () => void
}

const PortDialog = ({ port, service, tunnel, refusal, enable, onClose }: PortDialogProps) => {
  const title = `Open port ${port} of this devbox?`
  const pattern = tunnelAddress(service, tunnel?.tunnel_key ?? 'key', port)
  const stop = (words: ReactNode) => (
    <Dialog open onOpenChange={onClose} size="sm" title={`Port ${port} cannot be opened here`}>
      <div className="space-y-2 text-lg">{words}</div>
    </Dialog>
  )
  if (refusal) return stop(`${refusal}.`)
  if (!pattern)
    return stop(`The service is at ${service}, and tunnels need a name: an IP address has none to put before it.`)
  if (tunnel)
    return stop(
      <>
        <p>
          The tunnel of this devbox asks for a token in a header, which a browser does not send with a link. Its port is
          at <VisibleText mono>{pattern}</VisibleText> for programs that do.
        </p>
        {tunnel.auth_token && /^[\w.~+/=-]+$/.test(tunnel.auth_token) && (
          <CommandBlock
            label="The request with its token"
            command={`curl -H 'X-Runloop-Tunnel-Authorization: Bearer ${tunnel.auth_token}' '${pattern}'`}
          />
        )}
      </>,
    )
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={title}
      tone="primary"
      confirmLabel="Enable tunnel and open"
      busy={enable.isPending}
      error={enable.error}
      onConfirm={enable.run}
      consequence={
        <div className="space-y-2">
          <p>
            The devbox has no tunnel yet. With one, every port it listens on, not only {port}, can be reached at{' '}
            <code className="font-mono text-sm break-all">{pattern.replace('-key.', '-{key}.')}</code> without signing
            in by whoever has the address. The key in it is random.
          </p>
          <p>{reach(service)}</p>
        </div>
      }
    />
  )
}

const reach = (service: string): string =>
  isLoopback(URL.parse(service)?.hostname ?? '')
    ? 'The service listens on its own machine only, so the address works on that machine alone. The tunnel stays until it is removed under Ports or the devbox ends.'
    : 'The tunnel stays until it is removed under Ports or the devbox ends.'

// The page behind it gets no hold on this one, and is not told where it was opened.
const openAddress = (address: string) => window.open(address, '_blank', 'noopener,noreferrer')
