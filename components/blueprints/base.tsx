import { shortenMiddle } from '#components/ui/text.ts'
import { TextLink } from '#components/ui/text-link.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import type { Blueprint } from '#lib/contract/blueprints.ts'

/** The base blueprint or else the image that the Dockerfile starts from. */
export const baseOf = ({ base_blueprint_id, parameters }: Blueprint): string | undefined =>
  base_blueprint_id ??
  parameters.base_blueprint_id ??
  parameters.base_blueprint_name ??
  imageOf(parameters.dockerfile ?? '')

/** The base image of the last stage, which becomes the image. */
const imageOf = (dockerfile: string): string | undefined =>
  [...dockerfile.matchAll(/^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(\S+)/gim)].at(-1)?.[1]

export const BaseText = ({ blueprint, inRow }: { blueprint: Blueprint; inRow?: boolean }) => {
  const { base_blueprint_id, parameters } = blueprint
  const id = base_blueprint_id ?? parameters.base_blueprint_id
  const base = baseOf(blueprint)
  if (!base) return inRow ? null : <span className="text-muted">Service default</span>
  if (id)
    return (
      <TextLink href={paths.blueprint(id)} inRow={inRow} title={id} className="font-mono text-sm">
        {inRow ? shortenMiddle(id, 18) : id}
      </TextLink>
    )
  if (parameters.base_blueprint_name)
    return (
      <TextLink href={paths.blueprints({ name: base.slice(0, 256) })} inRow={inRow}>
        <VisibleText truncate>{base}</VisibleText>
      </TextLink>
    )
  return (
    <VisibleText truncate mono className="text-sm">
      {base}
    </VisibleText>
  )
}
