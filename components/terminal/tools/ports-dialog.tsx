'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ExternalLink, Unplug } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { Dialog } from '#components/ui/dialog.tsx'
import { InlineError } from '#components/ui/error-state.tsx'
import { Field } from '#components/ui/field.tsx'
import { Input } from '#components/ui/input.tsx'
import { isPort } from '#lib/console/address/tunnel-address.ts'
import { devboxQueries } from '#lib/console/queries/devboxes.ts'
import { tunnelMutations } from '#lib/console/queries/tunnels.ts'

interface PortsDialogProps {
  devboxId: string
  onOpenPort: (port: number) => void
  onClose: () => void
}

/** Opens a port by its number, and takes the tunnel away. */
export const PortsDialog = ({ devboxId, onOpenPort, onClose }: PortsDialogProps) => {
  const { data: devbox } = useQuery({ ...devboxQueries.get(devboxId), refetchInterval: false })
  const remove = useMutation(tunnelMutations.remove())
  const [text, setText] = useState('')
  const [isWrong, setIsWrong] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const port = Number(text)
    if (!isPort(port)) return setIsWrong(true)
    onClose()
    onOpenPort(port)
  }
  return (
    <Dialog open onOpenChange={onClose} size="sm" title="Ports of this devbox">
      <div className="space-y-4">
        <form onSubmit={submit} className="flex items-start gap-2">
          <Field
            label="Port"
            hint="What a server in the devbox listens on"
            error={isWrong && 'A port is a whole number from 1 to 65535'}
            className="flex-1"
          >
            {(control) => (
              <Input
                {...control}
                mono
                inputMode="numeric"
                autoComplete="off"
                placeholder="8080"
                value={text}
                onChange={({ target }) => {
                  setText(target.value.trim())
                  setIsWrong(false)
                }}
              />
            )}
          </Field>
          <Button type="submit" variant="primary" icon={ExternalLink} className="mt-6">
            Open port
          </Button>
        </form>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-t border-line pt-4">
          <p className="min-w-0 flex-1 basis-52 text-muted">
            {devbox?.tunnel
              ? devbox.tunnel.auth_mode === 'open'
                ? 'The devbox has an open tunnel: who has an address can reach its port.'
                : `The devbox has a tunnel (${devbox.tunnel.auth_mode}).`
              : 'The devbox has no tunnel, so no port of it can be reached from outside.'}
          </p>
          {devbox?.tunnel && (
            <Button icon={Unplug} busy={remove.isPending} onClick={() => remove.mutate(devboxId)}>
              Remove tunnel
            </Button>
          )}
        </div>
        {remove.error && <InlineError error={remove.error} />}
      </div>
    </Dialog>
  )
}
