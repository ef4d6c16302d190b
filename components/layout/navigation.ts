import { useQuery } from '@tanstack/react-query'
import type { LucideIcon } from 'lucide-react'
import {
  Bot,
  Box,
  Camera,
  ChartLine,
  Clapperboard,
  DraftingCompass,
  FileKey,
  FlaskConical,
  Gauge,
  GitCompareArrows,
  KeyRound,
  KeySquare,
  Layers,
  ListChecks,
  MonitorSmartphone,
  Package,
  Plug,
  Router,
  ScrollText,
  Server,
  Settings,
  ShieldCheck,
  Timer,
  Trophy,
  Waypoints,
} from 'lucide-react'
import { useCluster } from '#components/cluster/queries.ts'
import { supportQueries } from '#components/settings/support-queries.ts'
import { paths } from '#lib/browser/address/paths.ts'

export interface Destination {
  label: string
  href: string
  icon: LucideIcon
  keys: readonly [string, string]
  startsGroup?: boolean
  needsCluster?: boolean
  /** Endpoint id of the contract. Hidden if the service is known not to offer it. */
  needs?: string
}

export const destinations: readonly Destination[] = [
  { label: 'Overview', href: paths.overview(), icon: Gauge, keys: ['g', 'o'] },
  { label: 'Devboxes', href: paths.devboxes(), icon: Box, keys: ['g', 'd'] },
  { label: 'Evictions', href: paths.evictions(), icon: Timer, keys: ['g', 'e'] },
  { label: 'Axons', href: paths.axons(), icon: Waypoints, keys: ['g', 'a'] },
  { label: 'Snapshots', href: paths.snapshots(), icon: Camera, keys: ['g', 's'] },
  { label: 'Blueprints', href: paths.blueprints(), icon: DraftingCompass, keys: ['g', 'l'] },
  { label: 'Agents', href: paths.agents(), icon: Bot, keys: ['g', 'i'], needs: 'agents.list' },
  { label: 'Objects', href: paths.objects(), icon: Package, keys: ['g', 'k'], needs: 'objects.list' },
  { label: 'Cluster', href: paths.cluster(), icon: Server, keys: ['g', 'u'], needsCluster: true },
  { label: 'Recordings', href: paths.recordings(), icon: Clapperboard, keys: ['g', 'c'] },
  { label: 'Benchmark jobs', href: paths.benchmarkJobs(), icon: Trophy, keys: ['g', 'j'], startsGroup: true },
  { label: 'Benchmark runs', href: paths.benchmarkRuns(), icon: ListChecks, keys: ['g', 'r'] },
  { label: 'Benchmarks', href: paths.benchmarks(), icon: Layers, keys: ['g', 'b'] },
  { label: 'Scenarios', href: paths.scenarios(), icon: FlaskConical, keys: ['g', 'n'] },
  { label: 'Compare', href: paths.compare(), icon: GitCompareArrows, keys: ['g', 'p'] },
  { label: 'Trend', href: paths.trend(), icon: ChartLine, keys: ['g', 't'] },
  { label: 'Activity', href: paths.activity(), icon: ScrollText, keys: ['g', 'v'], startsGroup: true },
  { label: 'Settings', href: paths.settings(), icon: Settings, keys: ['g', ','] },
]

/** Pages below Settings, in the order of its own navigation. */
export const settingsDestinations: readonly Omit<Destination, 'keys'>[] = [
  { label: 'API keys', href: paths.apiKeys(), icon: KeySquare },
  { label: 'Personal keys', href: paths.personalKeys(), icon: FileKey },
  { label: 'Sessions', href: paths.sessions(), icon: MonitorSmartphone },
  { label: 'Secrets', href: paths.secrets(), icon: KeyRound, needs: 'secrets.list' },
  { label: 'Network policies', href: paths.networkPolicies(), icon: ShieldCheck, needs: 'networkPolicies.list' },
  { label: 'Gateways', href: paths.gateways(), icon: Router, needs: 'gatewayConfigs.list' },
  { label: 'MCP servers', href: paths.mcpServers(), icon: Plug, needs: 'mcpConfigs.list' },
]

/** Without those that the service has nothing for. */
export const useDestinations = (): readonly Destination[] => {
  const hasCluster = useCluster() !== null
  return useOffered(destinations).filter(({ needsCluster }) => !needsCluster || hasCluster)
}

export const useSettingsDestinations = () => useOffered(settingsDestinations)

const useOffered = <Page extends Pick<Destination, 'needs'>>(pages: readonly Page[]): readonly Page[] => {
  const operations = useQuery(supportQueries.current()).data?.operations
  return pages.filter(({ needs }) => needs === undefined || operations?.[needs] !== 'no')
}

/** A path belongs to its deepest destination only. */
export const isWithin = (pathname: string, href: string): boolean => {
  const isBelow = (parent: string) =>
    parent === '/' ? pathname === '/' : pathname === parent || pathname.startsWith(`${parent}/`)
  return isBelow(href) && !destinations.some((other) => other.href.startsWith(`${href}/`) && isBelow(other.href))
}
