import { readList, saveList } from '#lib/browser/frame/saved-list.ts'
import type { DevboxCreate } from '#lib/contract/devboxes.ts'
import { mask } from '#lib/protocol/mask.ts'
import { maskText } from '#lib/protocol/secrets.ts'

interface DevboxTemplate {
  name: string
  body: DevboxCreate
}

const key = 'devdeck.devbox-templates'
const maxTemplates = 50

export const readTemplates = (store: Pick<Storage, 'getItem'> | undefined): readonly DevboxTemplate[] =>
  readList(store, key, isTemplate)

/** Replaces a template of the same name. False if the browser can't store it. */
export const saveTemplate = (
  store: Pick<Storage, 'getItem' | 'setItem'> | undefined,
  template: DevboxTemplate,
): boolean =>
  write(store, [
    { ...template, body: withoutSecrets(template.body) },
    ...readTemplates(store).filter(({ name }) => name !== template.name),
  ])

export const deleteTemplate = (store: Pick<Storage, 'getItem' | 'setItem'> | undefined, name: string): boolean =>
  write(
    store,
    readTemplates(store).filter((each) => each.name !== name),
  )

const write = (store: Pick<Storage, 'setItem'> | undefined, templates: readonly DevboxTemplate[]): boolean =>
  saveList(store, key, templates.slice(0, maxTemplates))

const isTemplate = (value: unknown): value is DevboxTemplate => {
  const { name, body } = (value ?? {}) as Partial<DevboxTemplate>
  return typeof name === 'string' && typeof body === 'object' && body !== null && !Array.isArray(body)
}

/** Clears the values of variables that look secret. */
const withoutSecrets = (body: DevboxCreate): DevboxCreate => {
  const { environment_variables: variables } = body
  if (!variables) return body
  const cleared = Object.entries(variables).map(([name, value]) =>
    maskText(`${name}: ${JSON.stringify(value)}`).includes(mask) ? [name, ''] : [name, value],
  )
  return { ...body, environment_variables: Object.fromEntries(cleared) }
}
