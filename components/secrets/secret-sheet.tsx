'use client'
import { KeyRound, Trash2 } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { CopyableId } from '#components/ui/copyable-id.tsx'
import { Fact, Facts } from '#components/ui/facts.tsx'
import { SheetFrame } from '#components/ui/overlay/sheet-frame.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import type { Secret } from '#lib/contract/secrets.ts'
import { SecretUsage } from './secret-usage.tsx'

interface SecretSheetProps {
  name: string
  /** Undefined if it isn't among the account's secrets. */
  secret: Secret | undefined
  onReplace: (secret: Secret) => void
  onDelete: (secret: Secret) => void
  onClose: () => void
}

export const SecretSheet = ({ name, secret, onReplace, onDelete, onClose }: SecretSheetProps) => {
  if (!secret)
    return (
      <SheetFrame title="Secret" onClose={onClose}>
        <p>Secret not found. It may have been deleted or belong to another account.</p>
      </SheetFrame>
    )
  return (
    <SheetFrame title={<span className="font-mono break-all">{name}</span>} onClose={onClose}>
      <div className="flex flex-wrap gap-2">
        <Button icon={KeyRound} needs="secrets.update" onClick={() => onReplace(secret)}>
          Replace value
        </Button>
        <Button icon={Trash2} needs="secrets.delete" onClick={() => onDelete(secret)}>
          Delete secret
        </Button>
      </div>
      <Facts>
        <Fact label="ID">
          <CopyableId value={secret.id} full />
        </Fact>
        <Fact label="Value">Secret values are write-only</Fact>
        <Fact label="Created">
          <RelativeTime ms={secret.create_time_ms} />
        </Fact>
        <Fact label="Value set">
          <RelativeTime ms={secret.update_time_ms} />
        </Fact>
      </Facts>
      <section aria-labelledby="secret-usage" className="space-y-2">
        <h3 id="secret-usage" className="font-medium">
          Used by
        </h3>
        <SecretUsage name={name} />
      </section>
    </SheetFrame>
  )
}
