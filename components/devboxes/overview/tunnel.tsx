'use client'
import { useMutation } from '@tanstack/react-query'
import { ExternalLink, Plug, Unplug } from 'lucide-react'
import { useState } from 'react'
import { tunnelMutations } from '#components/devboxes/network-queries.ts'
import { isPort, tunnelAddress } from '#components/devboxes/tunnel-address.ts'
import { Button } from '#components/ui/button.tsx'
import { SelectField } from '#components/ui/choice/select-field.tsx'
import { CommandBlock } from '#components/ui/command-block.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { TextField } from '#components/ui/field.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { type Devbox, devboxRefusal, hasEnded } from '#lib/contract/devboxes.ts'
import { type Tunnel as DevboxTunnel, tunnelModes } from '#lib/contract/tunnels.ts'
import { type TunnelMode, tunnelModeLabels } from '../tunnel-modes.ts'

export const Tunnel = ({ devbox, serviceUrl }: { devbox: Devbox; serviceUrl: string }) =>
  devbox.tunnel && !hasEnded(devbox.status) ? (
    <Ports devbox={devbox} tunnel={devbox.tunnel} serviceUrl={serviceUrl} />
  ) : (
    <NoTunnel devbox={devbox} />
  )

const NoTunnel = ({ devbox: { id, status } }: { devbox: Devbox }) => {
  const [mode, setMode] = useState<TunnelMode>('open')
  const enable = useMutation(tunnelMutations.enable())
  if (hasEnded(status)) return <p className="text-muted">None. The devbox has ended.</p>
  return (
    <div className="space-y-2">
      <p className="text-muted">None. Ports of the devbox aren't reachable from outside.</p>
      <div className="flex flex-wrap items-end gap-2">
        <SelectField
          label="Access"
          value={mode}
          onPick={setMode}
          options={tunnelModes.map((value) => ({ value, label: tunnelModeLabels[value] }))}
        />
        <Button
          icon={Plug}
          needs="tunnels.enable"
          busy={enable.isPending}
          disabledReason={devboxRefusal('enable_tunnel', status)}
          onClick={() => enable.mutate({ id, auth_mode: mode })}
        >
          Enable tunnel
        </Button>
      </div>
      <p className="text-sm text-muted">A tunnel exposes every port the devbox listens on.</p>
      {enable.error && <InlineError error={enable.error} />}
    </div>
  )
}

interface PortsProps {
  devbox: Devbox
  tunnel: DevboxTunnel
  serviceUrl: string
}

const Ports = ({ devbox: { id, launch_parameters }, tunnel, serviceUrl }: PortsProps) => {
  const declared = launch_parameters.available_ports ?? []
  const [text, setText] = useState('')
  const remove = useMutation(tunnelMutations.remove())
  const entered = text === '' ? [] : [Number(text)]
  const isInvalid = entered.some((port) => !isPort(port))
  const addresses = [...new Set([...declared, ...(isInvalid ? [] : entered)])].map((port) => ({
    port,
    address: tunnelAddress(serviceUrl, tunnel.tunnel_key, port),
  }))
  const { auth_mode, auth_token, create_time_ms } = tunnel
  const isReachable = tunnelAddress(serviceUrl, tunnel.tunnel_key, 80) !== null
  return (
    <div className="space-y-3">
      <p>
        {tunnelModeLabels[auth_mode as TunnelMode] ?? auth_mode}, created <RelativeTime ms={create_time_ms} />
        {tunnel.http_keep_alive && '. Requests count as activity'}
        {tunnel.wake_on_http && '. Requests resume the devbox'}
      </p>
      {!isReachable && <p className="text-muted">Tunnels need a host name, but the service address is {serviceUrl}.</p>}
      {isReachable && (
        <>
          <TextField
            label="Port"
            mono
            inputMode="numeric"
            placeholder="8080"
            hint="A port that a server in the devbox listens on"
            error={isInvalid ? 'Enter a number from 1 to 65535' : null}
            value={text}
            onText={(typed) => setText(typed.trim())}
          />
          <ul className="space-y-1.5" aria-label="Addresses">
            {addresses.map(
              ({ port, address }) =>
                address && (
                  <li key={port} className="min-w-0">
                    {auth_mode === 'open' ? (
                      <a
                        href={address}
                        target="_blank"
                        rel="noopener noreferrer"
                        className="inline-flex min-h-6 max-w-full items-center gap-1.5 font-mono text-sm break-all text-accent hover:underline"
                      >
                        {address}
                        <ExternalLink aria-hidden className="size-3.5 shrink-0" />
                        <span className="sr-only">, in a new tab</span>
                      </a>
                    ) : (
                      <CommandBlock
                        label={`the request to port ${port}`}
                        command={`curl -H 'X-Runloop-Tunnel-Authorization: Bearer ${safeToken(auth_token)}' '${address}'`}
                      />
                    )}
                  </li>
                ),
            )}
          </ul>
        </>
      )}
      <Button icon={Unplug} size="sm" needs="tunnels.remove" busy={remove.isPending} onClick={() => remove.mutate(id)}>
        Remove tunnel
      </Button>
      {remove.error && <InlineError error={remove.error} />}
    </div>
  )
}

/** Other characters could break out of the quotes. */
const safeToken = (token: string | null | undefined): string =>
  token && /^[\w.~+/=-]+$/.test(token) ? token : '$TUNNEL_TOKEN'
