import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { StringMap } from '#lib/contract/common.ts'
import { isAgentName, reservedAgentNames } from '#lib/service/domain/agent-names.ts'
import { type AgentDefinition, definitionOf, readManifest } from './definition.ts'

interface Options {
  folder: string
  commands: Readonly<Record<string, string>>
}

type Found = { definition: AgentDefinition; problems?: undefined } | { definition?: undefined; problems: string[] }

const recipes = join(import.meta.dirname, 'recipes')
const maxManifestBytes = 256 * 1024

/** From --agent, then the data folder, then the recipes. Read for each job, so edits need no restart. */
export class NamedAgents {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  find(name: string): Found | undefined {
    const { commands, folder } = this.#options
    if (!isAgentName(name) || reservedAgentNames.includes(name)) return undefined
    if (Object.hasOwn(commands, name))
      return { definition: definitionOf(name, `--agent ${name}`, commands[name] ?? '') }
    const own = join(folder, name, 'agent.toml')
    if (existsSync(own)) return fromManifest(name, own, `agents/${name}/agent.toml`)
    const recipe = join(recipes, `${name}.toml`)
    return existsSync(recipe) ? fromManifest(name, recipe, `recipe ${name}`) : undefined
  }

  names(): string[] {
    const own = namesIn(this.#options.folder).filter((name) =>
      existsSync(join(this.#options.folder, name, 'agent.toml')),
    )
    const recipeNames = namesIn(recipes).map((file) => file.replace(/\.toml$/, ''))
    return [...new Set([...Object.keys(this.#options.commands), ...own, ...recipeNames])].filter(isAgentName).sort()
  }

  unknownAgentMessage(name: string): string {
    const how = isAgentName(name)
      ? `; to add one, create agents/${name}/agent.toml in the data folder or use --agent ${name}=COMMAND`
      : ''
    return `there is no agent ${JSON.stringify(name)}; named agents are ${this.names().join(', ')}${how}`
  }
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

const fromManifest = (name: string, path: string, origin: string): Found => {
  try {
    if (statSync(path).size > maxManifestBytes)
      return { problems: [`${origin} is longer than ${maxManifestBytes} bytes`] }
    return readManifest(name, origin, readFileSync(path, 'utf8'))
  } catch (error) {
    return { problems: [`${origin} cannot be read: ${(error as Error).message}`] }
  }
}

interface Given {
  modelName: string | null | undefined
  variables: StringMap
  secrets: StringMap
}

/** Finds the secrets an agent needs and the job does not set. The public CLI stores its own as BMJ_NAME. */
export const secretsFor = (
  { name, needsModel, secrets, anySecret, providers, env }: AgentDefinition,
  given: Given,
  hasSecret: (name: string) => boolean,
): { secrets: StringMap; problems: { field: 'model_name' | 'secrets'; message: string }[] } => {
  const problems: { field: 'model_name' | 'secrets'; message: string }[] = []
  const model = given.modelName?.trim() ?? ''
  if (needsModel && model === '')
    problems.push({ field: 'model_name', message: `agent ${name} needs a model: set model_name` })
  const provider = model.includes('/') ? model.slice(0, model.indexOf('/')) : ''
  const known = Object.keys(providers)
  const providerSecrets = Object.hasOwn(providers, provider) ? providers[provider] : undefined
  if (known.length > 0 && model !== '' && !providerSecrets)
    problems.push({
      field: 'model_name',
      message: `agent ${name} needs a model provider/model from ${known.join(', ')}, not ${JSON.stringify(model)}`,
    })
  const found: StringMap = {}
  const provide = (variable: string, secret: string): boolean => {
    if ([given.variables, given.secrets, env].some((each) => Object.hasOwn(each, variable))) return true
    const stored = [secret, `BMJ_${variable}`].find(hasSecret)
    if (stored !== undefined) found[variable] = stored
    return stored !== undefined
  }
  const choices = Object.entries(anySecret)
  const provided = choices.filter(([variable, secret]) => provide(variable, secret))
  if (choices.length > 0 && provided.length === 0)
    problems.push({
      field: 'secrets',
      message: `agent ${name} needs ${Object.keys(anySecret).join(' or ')}: create a secret ${Object.values(anySecret).join(' or ')}, or map a secret to one of them`,
    })
  for (const [variable, secret] of Object.entries({ ...secrets, ...providerSecrets })) {
    if (!provide(variable, secret))
      problems.push({
        field: 'secrets',
        message: `agent ${name} needs ${variable}: create a secret ${secret}, or map a secret to ${variable}`,
      })
  }
  return { secrets: found, problems }
}
