import { useMutation, useQuery } from '@tanstack/react-query'
import { Unplug } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { tunnelMutations } from '#components/devboxes/network-queries.ts'
import { devboxQueries } from '#components/devboxes/queries.ts'
import { isLoopback, isPort, tunnelAddress } from '#components/devboxes/tunnel-address.ts'
import { sessionQueries } from '#components/layout/session-queries.ts'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { type Devbox, devboxRefusal } from '#lib/contract/devboxes.ts'

/** Opens ports through the devbox's tunnel, asking before creating one. An empty id disables it for visitors. */
export const useDevboxPort = (devboxId: string): { open: (port: number, path?: string) => void; dialog: ReactNode } => {
  const isKnown = devboxId !== ''
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

const openAddress = (address: string) => window.open(address, '_blank', 'noopener,noreferrer')

interface PortDialogProps {
  port: number
  path: string
  devbox: Devbox
  service: string
  onOpen: (address: string) => void
  onClose: () => void
}

const PortDialog = ({ port, path, devbox, service, onOpen, onClose }: PortDialogProps) => {
  const { id, status, tunnel } = devbox
  const enable = useMutation(tunnelMutations.enable())
  const refusal = devboxRefusal('enable_tunnel', status)
  const pattern = tunnelAddress(service, tunnel?.tunnel_key ?? 'key', port)
  if (refusal || !pattern || tunnel)
    return (
      <Dialog open onOpenChange={onClose} size="sm" title={`Can't open port ${port}`}>
        <div className="space-y-2 text-lg">
          {refusal ? (
            `${refusal}.`
          ) : pattern && tunnel ? (
            <>
              This tunnel requires a token in a header, which browsers can't send for a link. Programs can use{' '}
              <VisibleText mono>{pattern}</VisibleText>.
            </>
          ) : (
            `The service's address is ${service}. Tunnels need a hostname, not an IP address.`
          )}
        </div>
      </Dialog>
    )
  const enableAndOpen = () =>
    enable.mutate(
      { id, auth_mode: 'open' },
      {
        onSuccess: ({ tunnel_key }) => {
          onClose()
          const address = tunnelAddress(service, tunnel_key, port, path)
          if (!address) return
          onOpen(address)
          // The request may take too long for the browser to allow a new window.
          toast.ok('Tunnel enabled', {
            description: `Port ${port}: ${address}`,
            action: { label: 'Open', onClick: () => onOpen(address) },
            durationMs: 12_000,
          })
        },
      },
    )
  const isLocal = isLoopback(URL.parse(service)?.hostname ?? '')
  return (
    <ConfirmDialog
      open
      onOpenChange={onClose}
      title={`Open port ${port}?`}
      tone="primary"
      confirmLabel="Enable tunnel and open"
      needs="tunnels.enable"
      busy={enable.isPending}
      error={enable.error}
      onConfirm={enableAndOpen}
      consequence={
        <div className="space-y-2">
          <p>
            This enables a tunnel. Every port of the devbox, not only {port}, can then be reached at{' '}
            <code className="font-mono text-sm break-all">{pattern.replace('-key.', '-{key}.')}</code> by anyone with
            the address, without signing in. Its key is random.
          </p>
          <p>
            {isLocal && "The address works only on the service's machine, because the service listens on loopback. "}
            The tunnel stays enabled until you remove it under Ports or the devbox ends.
          </p>
        </div>
      }
    />
  )
}

interface PortsDialogProps {
  devboxId: string
  onOpenPort: (port: number) => void
  onClose: () => void
}

export const PortsDialog = ({ devboxId, onOpenPort, onClose }: PortsDialogProps) => {
  const { data: devbox } = useQuery({ ...devboxQueries.get(devboxId), refetchInterval: false })
  const remove = useMutation(tunnelMutations.remove())
  const [text, setText] = useState('')
  const [isWrong, setIsWrong] = useState(false)
  const submit = () => {
    if (!isPort(Number(text))) return setIsWrong(true)
    onClose()
    onOpenPort(Number(text))
  }
  const tunnel = devbox?.tunnel
  return (
    <FormDialog
      open
      onOpenChange={onClose}
      size="sm"
      title="Ports"
      onSubmit={submit}
      needs={undefined}
      submitLabel="Open port"
      error={remove.error}
    >
      <TextField
        label="Port"
        hint="A port that a server in the devbox listens on"
        error={isWrong && 'Enter a number from 1 to 65535'}
        mono
        inputMode="numeric"
        placeholder="8080"
        value={text}
        onText={(typed) => {
          setText(typed.trim())
          setIsWrong(false)
        }}
      />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-t border-line pt-4">
        <p className="min-w-0 flex-1 basis-52 text-muted">
          {!tunnel && "No tunnel. Ports can't be reached from outside."}
          {tunnel?.auth_mode === 'open' && 'Open tunnel: anyone with the address can reach the port.'}
          {tunnel && tunnel.auth_mode !== 'open' && `Tunnel enabled (${tunnel.auth_mode}).`}
        </p>
        {tunnel && (
          <Button icon={Unplug} needs="tunnels.remove" busy={remove.isPending} onClick={() => remove.mutate(devboxId)}>
            Remove tunnel
          </Button>
        )}
      </div>
    </FormDialog>
  )
}
