const tabs = ['overview', 'events', 'sql'] as const
export type AxonTab = (typeof tabs)[number]

/** The tab an address names; the overview when it names none that exists. */
export const axonTabOf = (text: unknown): AxonTab => tabs.find((tab) => tab === text) ?? 'overview'
