import { VisibleText } from '#components/ui/visible-text.tsx'
import type { Axon } from '#lib/contract/axons.ts'

export const AxonName = ({ axon: { name }, max }: { axon: Axon; max?: number }) =>
  name ? (
    <VisibleText truncate={max === undefined} max={max}>
      {name}
    </VisibleText>
  ) : (
    <span className="font-normal text-muted">Unnamed</span>
  )
