import { useMutation, useQuery } from '@tanstack/react-query'
import { Unplug } from 'lucide-react'
import { useState } from 'react'
import { tunnelMutations } from '#components/devboxes/network-queries.ts'
import { devboxQueries } from '#components/devboxes/queries.ts'
import { isPort } from '#components/devboxes/tunnel-address.ts'
import { Button } from '#components/ui/button.tsx'
import { TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'

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
          <Button icon={Unplug} busy={remove.isPending} onClick={() => remove.mutate(devboxId)}>
            Remove tunnel
          </Button>
        )}
      </div>
    </FormDialog>
  )
}
