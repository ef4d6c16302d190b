import { useMutation } from '@tanstack/react-query'
import { tunnelMutations } from '#components/devboxes/network-queries.ts'
import { isLoopback, tunnelAddress } from '#components/devboxes/tunnel-address.ts'
import { CommandBlock } from '#components/ui/command-block.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { toast } from '#components/ui/toast.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { type Devbox, devboxRefusal } from '#lib/contract/devboxes.ts'
import type { Tunnel } from '#lib/contract/tunnels.ts'

interface PortDialogProps {
  port: number
  path: string
  devbox: Devbox
  service: string
  onOpen: (address: string) => void
  onClose: () => void
}

/** Explains why a port can't be opened, or asks to create a tunnel. */
export const PortDialog = ({ port, path, devbox, service, onOpen, onClose }: PortDialogProps) => {
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
            <TokenNeeded tunnel={tunnel} address={pattern} />
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

const TokenNeeded = ({ tunnel: { auth_token }, address }: { tunnel: Tunnel; address: string }) => (
  <>
    <p>
      This tunnel requires a token in a header, which browsers can't send for a link. Programs can use{' '}
      <VisibleText mono>{address}</VisibleText>.
    </p>
    {auth_token && /^[\w.~+/=-]+$/.test(auth_token) && (
      <CommandBlock
        label="Request with the token"
        command={`curl -H 'X-Runloop-Tunnel-Authorization: Bearer ${auth_token}' '${address}'`}
      />
    )}
  </>
)
