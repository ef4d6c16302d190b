import { keepItems, readKept } from '#lib/browser/frame/kept-items.ts'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'
import { mask } from '#lib/protocol/mask.ts'
import { maskText } from '#lib/protocol/secrets.ts'

/** What a devbox is made with, under a name, in this browser alone. */
export interface DevboxTemplate {
  name: string
  body: DevboxCreate
}

const key = 'devdeck.devbox-templates'
/** More than anyone chooses from. */
const maxTemplates = 50

export const readTemplates = (store: Pick<Storage, 'getItem'> | undefined): readonly DevboxTemplate[] =>
  readKept(store, key, isTemplate)

/** Keeps one under its name, in the place of another of that name; false when the browser does not. */
export const keepTemplate = (
  store: Pick<Storage, 'getItem' | 'setItem'> | undefined,
  template: DevboxTemplate,
): boolean =>
  write(store, [
    { ...template, body: withoutSecrets(template.body) },
    ...readTemplates(store).filter(({ name }) => name !== template.name),
  ])

export const forgetTemplate = (store: Pick<Storage, 'getItem' | 'setItem'> | undefined, name: string): boolean =>
  write(
    store,
    readTemplates(store).filter((each) => each.name !== name),
  )

const write = (store: Pick<Storage, 'setItem'> | undefined, templates: readonly DevboxTemplate[]): boolean =>
  keepItems(store, key, templates.slice(0, maxTemplates))

const isTemplate = (kept: unknown): kept is DevboxTemplate => {
  const { name, body } = (kept ?? {}) as Partial<DevboxTemplate>
  return typeof name === 'string' && typeof body === 'object' && body !== null && !Array.isArray(body)
}

/** The values of variables that look secret are not kept: their names are, with nothing. */
const withoutSecrets = (body: DevboxCreate): DevboxCreate => {
  const { environment_variables: variables } = body
  if (!variables) return body
  const kept = Object.entries(variables).map(([name, value]) =>
    maskText(`${name}: ${JSON.stringify(value)}`).includes(mask) ? [name, ''] : [name, value],
  )
  return { ...body, environment_variables: Object.fromEntries(kept) }
}
