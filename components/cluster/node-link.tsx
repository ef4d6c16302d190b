import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'

export const NodeLink = ({ hostname }: { hostname: string | undefined }) =>
  hostname && (
    <TextLink href={paths.cluster({ node: hostname })} prefetch={false} inRow>
      <VisibleText max={60}>{hostname}</VisibleText>
    </TextLink>
  )
