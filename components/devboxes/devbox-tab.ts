const tabs = ['overview', 'terminal', 'commands', 'files', 'log', 'snapshots'] as const
export type DevboxTab = (typeof tabs)[number]

/** The tab an address names; the overview when it names none that exists. */
export const devboxTabOf = (text: unknown): DevboxTab => tabs.find((tab) => tab === text) ?? 'overview'
