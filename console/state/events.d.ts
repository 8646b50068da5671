/**
 * The events of a trace, as the console gets them. Made by `make rules` from traces/events; do not edit.
 *
 * A field with a question mark is left out if it has its default value. docs/reference/events/ says what the fields mean.
 */

export interface Header {
  run: string;
  node: string;
  incarnation: number;
  seq: number;
  lamport: number;
  at: number;
  real?: number | null;
  mail?: string | null;
  v?: number;
  words?: string;
}

export interface PolicyOfStores {
  name: string;
  domain: string;
  sites: readonly string[];
  servers: readonly string[];
  versions: readonly string[];
}

export interface MailFolder {
  folder: string;
  cnset: string;
  cnset_fai: string;
  row: string;
  row_fai: string;
  updates: number;
  expired: string;
  expired_fai: string;
}

export interface Candidate {
  store: string;
  down: boolean;
  preferred: boolean;
  cost: number | null;
  version: string;
  has: number;
  passed_over: string;
  site: string;
  near: boolean;
  group: number;
  has_all: boolean;
  affinity: number | null;
  transit_us: number | null;
  backfilled_at: number;
  guid: string;
  active: boolean;
  added_at: number | null;
  leaving: boolean;
}

export interface RunStarted extends Header {
  type: "run.started";
  topology: string;
  seed: string;
  settings: Record<string, string>;
  version: string;
}

export interface RunEnded extends Header {
  type: "run.ended";
  verdict: string;
}

export interface NodeStarted extends Header {
  type: "node.started";
  version: string;
  replica_guid: string;
  reason: "first" | "restart" | "restored";
}

export interface NodeStopped extends Header {
  type: "node.stopped";
  how: "stop" | "kill";
}

export interface BackupMade extends Header {
  type: "backup.made";
  store: string;
  backup: string;
  through?: number;
}

export interface BackupRestored extends Header {
  type: "backup.restored";
  store: string;
  backup: string;
}

export interface BackupElsewhere extends Header {
  type: "backup.elsewhere";
  store: string;
  backup: string;
  of: string;
  directory_object?: number;
}

export interface OrganizationChanged extends Header {
  type: "organization.changed";
  revision: number;
  subject: string;
  change: "added" | "changed" | "removed";
  topology: string;
}

export interface OrganizationRead extends Header {
  type: "organization.read";
  revision: number;
}

export interface StoreCreated extends Header {
  type: "store.created";
  store: string;
  directory_object: number;
}

export interface SettingIgnored extends Header {
  type: "setting.ignored";
  name: string;
  value: string;
  reason: string;
}

export interface SettingValue extends Header {
  type: "setting.value";
  name: string;
  value: string;
  default: string;
}

export interface RecipientPolicy extends Header {
  type: "recipient.policy";
  recipient_update: string;
  domain: string;
  at_once: boolean;
  policy?: string;
  change?: "" | "added" | "changed" | "removed";
  policies?: readonly PolicyOfStores[];
}

export interface ClockChanged extends Header {
  type: "clock.changed";
  how: string;
  rate: number;
  to: number;
}

export interface FaultInjected extends Header {
  type: "fault.injected";
  fault: string;
  kind: string;
  details: Record<string, string | number | boolean | null>;
}

export interface FaultAltered extends Header {
  type: "fault.altered";
  fault: string;
  server: string;
  next_hop: string;
  recipients: readonly string[];
}

export interface FaultHealed extends Header {
  type: "fault.healed";
  fault: string;
}

export interface MailSubmitted extends Header {
  type: "mail.submitted";
  message_type: number;
  folders: readonly MailFolder[];
  recipients: readonly string[];
  size: number;
  number: number;
  marks?: readonly string[];
}

export interface MailReceived extends Header {
  type: "mail.received";
  sender: string;
  message_type: number;
  folders: readonly MailFolder[];
  recipients: readonly string[];
  size: number;
  number: number;
  marks?: readonly string[];
}

export interface MailBad extends Header {
  type: "mail.bad";
  sender: string;
  reason: string;
  size: number;
}

export interface MailPosted extends Header {
  type: "mail.posted";
  folder: string;
  object: string;
  sender: string;
  recipient?: string;
}

export interface MailNotPosted extends Header {
  type: "mail.not_posted";
  folder: string;
  sender: string;
  reason: string;
  recipient?: string;
}

export interface MailboxDelivered extends Header {
  type: "mailbox.delivered";
  recipient: string;
  sender: string;
  subject: string;
  size: number;
}

export interface HopSent extends Header {
  type: "hop.sent";
  next_hop: string;
  connector: string | null;
  recipients: readonly string[];
  size: number;
  attempt: number;
  queue_id: number;
  ordinary?: string;
  begun_at?: number | null;
}

export interface HopFailed extends Header {
  type: "hop.failed";
  next_hop: string;
  connector: string | null;
  reason: string;
  retry_at: number | null;
  queue_id: number;
  begun_at?: number | null;
}

export interface HopReceived extends Header {
  type: "hop.received";
  peer: string;
  recipients: readonly string[];
  size: number;
  authenticated?: boolean;
  sender?: string;
  subject?: string;
}

export interface HopDropped extends Header {
  type: "hop.dropped";
  fault: string;
  sender: string;
  recipients: readonly string[];
}

export interface HopExpired extends Header {
  type: "hop.expired";
  queue_id: number;
  recipients: readonly string[];
  reason: string;
}

export interface HopDeleted extends Header {
  type: "hop.deleted";
  queue_id: number;
  recipients: readonly string[];
}

export interface QueueFrozen extends Header {
  type: "queue.frozen";
  next_hop: string;
  queue_id: number | null;
}

export interface QueueUnfrozen extends Header {
  type: "queue.unfrozen";
  next_hop: string;
  queue_id: number | null;
}

export interface LinkDown extends Header {
  type: "link.down";
  connector: string;
  by: string;
  reason: string;
  avoided: boolean;
}

export interface LinkUp extends Header {
  type: "link.up";
  connector: string;
  by: string;
}

export interface ChangeMade extends Header {
  type: "change.made";
  folder: string;
  object: string;
  number: string;
  kind: "folder" | "message" | "fai";
  operation: "create" | "modify" | "delete";
  modified_at: number;
  supersedes: readonly string[];
  pcl: string;
  digest: string;
  subject: string;
  replicas?: readonly string[] | null;
  parent?: string | null;
  resolve?: string;
  rivals?: readonly string[];
}

export interface ItemExpired extends Header {
  type: "item.expired";
  folder: string;
  object: string;
  number: string;
  modified_at: number;
  limit_us: number;
}

export interface ItemRecovered extends Header {
  type: "item.recovered";
  folder: string;
  object: string;
  number: string;
  of: string;
  deleted_at: number;
  retention_us: number;
}

export interface VersionApplied extends Header {
  type: "version.applied";
  folder: string;
  object: string;
  number: string;
  kind: "folder" | "message" | "fai";
  pcl: string;
  modified_at: number;
  way: "broadcast" | "backfill" | "queue";
  stands_for: string;
  digest: string;
  deleted: boolean;
  rivals?: readonly string[];
}

export interface VersionIgnored extends Header {
  type: "version.ignored";
  folder: string;
  object: string;
  number: string;
  kind: "folder" | "message" | "fai";
  pcl: string;
  modified_at: number;
  way: "broadcast" | "backfill" | "queue";
  stands_for: string;
  digest: string;
  deleted: boolean;
  rivals?: readonly string[];
  reason: "old" | "duplicate" | "tombstoned" | "no replica";
}

export interface VersionHeld extends Header {
  type: "version.held";
  folder: string;
  object: string;
  number: string;
  kind: "folder" | "message" | "fai";
  pcl: string;
  modified_at: number;
  way: "broadcast" | "backfill" | "queue";
  stands_for: string;
  digest: string;
  deleted: boolean;
  rivals?: readonly string[];
  until_at: number;
  waits_for: string;
}

export interface VersionDropped extends Header {
  type: "version.dropped";
  folder: string;
  object: string;
  number: string;
  kind: "folder" | "message" | "fai";
  pcl: string;
  modified_at: number;
  way: "broadcast" | "backfill" | "queue";
  stands_for: string;
  digest: string;
  deleted: boolean;
  rivals?: readonly string[];
  reason: string;
}

export interface VersionFailed extends Header {
  type: "version.failed";
  number: string | null;
  reason: string;
  folder?: string | null;
  object?: string | null;
}

export interface ConflictAged extends Header {
  type: "conflict.aged";
  folder: string;
  object: string;
  number: string;
  winner: string;
  since_at: number;
  limit_us: number;
}

export interface ConflictArose extends Header {
  type: "conflict.arose";
  folder: string;
  object: string;
  versions: readonly string[];
  winner: string;
}

export interface ConflictEnded extends Header {
  type: "conflict.ended";
  folder: string;
  object: string;
  number: string;
  by?: string;
}

export interface ConflictNotice extends Header {
  type: "conflict.notice";
  folder: string;
  object: string;
  contacts: readonly string[];
  versions: readonly string[];
}

export interface TombstoneMade extends Header {
  type: "tombstone.made";
  folder: string;
  object: string;
  number: string;
}

export interface TombstoneDropped extends Header {
  type: "tombstone.dropped";
  folder: string;
  object: string;
  number: string;
}

export interface RowReplaced extends Header {
  type: "row.replaced";
  folder: string;
  store: string;
  cnset: string;
  cnset_fai: string;
  sent_at: number;
  sent_number: number;
}

export interface EntryMade extends Header {
  type: "entry.made";
  folder: string;
  entry: number;
  cnset: string;
  cnset_fai: string;
  local: boolean;
  due_at: number;
  parent?: number;
}

export interface EntrySatisfied extends Header {
  type: "entry.satisfied";
  folder: string;
  entry: number;
}

export interface EntryPruned extends Header {
  type: "entry.pruned";
  folder: string;
  entry: number;
  cnset: string;
  cnset_fai: string;
  reason: string;
}

export interface EntryTimedOut extends Header {
  type: "entry.timed_out";
  folder: string;
  entry: number;
  attempt: number;
}

export interface RequestSent extends Header {
  type: "request.sent";
  folder: string;
  entry: number;
  source: string;
  cnset: string;
  cnset_fai: string;
  retry_at: number;
}

export interface RequestEnded extends Header {
  type: "request.ended";
  folder: string;
  entry: number;
  source: string;
  how: "satisfied" | "retry" | "empty" | "pruned" | "expired";
}

export interface RequestDeferred extends Header {
  type: "request.deferred";
  folder: string;
  entry: number;
}

export interface ContentSuspended extends Header {
  type: "content.suspended";
}

export interface ContentResumed extends Header {
  type: "content.resumed";
}

export interface RequestRefused extends Header {
  type: "request.refused";
  folder: string;
  requester: string;
  request_mail: string;
}

export interface ExpiredEverywhere extends Header {
  type: "expired.everywhere";
  folder: string;
  cnset: string;
  cnset_fai: string;
}

export interface RequestAnswered extends Header {
  type: "request.answered";
  folder: string;
  requester: string;
  cnset: string;
  mails: number;
  request_mail: string;
  expired?: string;
}

export interface SourcesConsidered extends Header {
  type: "sources.considered";
  folder: string;
  entry: number;
  candidates: readonly Candidate[];
  chosen: readonly string[];
  method?: string;
  cnset?: string;
  cnset_fai?: string;
  missing?: string;
  missing_fai?: string;
  one_by_one?: boolean;
}

export interface RespondersConsidered extends Header {
  type: "responders.considered";
  folder: string;
  candidates: readonly Candidate[];
  chosen: readonly string[];
  method?: string;
  limit?: number;
}

export interface SourceDown extends Header {
  type: "source.down";
  store: string;
  folder: string;
}

export interface SourceUp extends Header {
  type: "source.up";
  store: string;
}

export interface StatusDue extends Header {
  type: "status.due";
  folders: readonly string[];
  last_update_at: number;
}

export interface StatusMissed extends Header {
  type: "status.missed";
}

export interface StatusOrdered extends Header {
  type: "status.ordered";
  folder: string;
}

export interface ChangesResent extends Header {
  type: "changes.resent";
  folder: string;
  stores: readonly string[];
  since_at: number;
  cnset: string;
  cnset_fai: string;
}

export interface ReplicaAdded extends Header {
  type: "replica.added";
  folder: string;
  store: string;
}

export interface ReplicaPending extends Header {
  type: "replica.pending";
  folder: string;
}

export interface ReplicaDropped extends Header {
  type: "replica.dropped";
  folder: string;
  cnset: string;
}

export interface AddressStamped extends Header {
  type: "address.stamped";
  store: string;
  address: string;
}

export interface AddressMissing extends Header {
  type: "address.missing";
  store: string;
  reason: string;
}

export interface AddressLacking extends Header {
  type: "address.lacking";
  message_type: number;
  folders: readonly string[];
  stores: readonly string[];
}

export interface TreeLinked extends Header {
  type: "tree.linked";
  store: string;
  linked: boolean;
}

export interface TreeLacking extends Header {
  type: "tree.lacking";
  message_type: number;
  folder: string;
  stores: readonly string[];
}

export interface StoreDeleted extends Header {
  type: "store.deleted";
  store: string;
  forced: boolean;
  directory_object?: number;
}

export interface Loss extends Header {
  type: "loss";
  folder: string;
  cnset: string;
  reason: string;
}

export interface FolderShown extends Header {
  type: "folder.shown";
  folder: string;
  path: string;
}

export interface FolderMoved extends Header {
  type: "folder.moved";
  folder: string;
  path: string;
}

export interface FolderHidden extends Header {
  type: "folder.hidden";
  folder: string;
  path: string;
}

export interface PostRefused extends Header {
  type: "post.refused";
  folder: string;
  reason: string;
}

export type LabEvent =
  | RunStarted
  | RunEnded
  | NodeStarted
  | NodeStopped
  | BackupMade
  | BackupRestored
  | BackupElsewhere
  | OrganizationChanged
  | OrganizationRead
  | StoreCreated
  | SettingIgnored
  | SettingValue
  | RecipientPolicy
  | ClockChanged
  | FaultInjected
  | FaultAltered
  | FaultHealed
  | MailSubmitted
  | MailReceived
  | MailBad
  | MailPosted
  | MailNotPosted
  | MailboxDelivered
  | HopSent
  | HopFailed
  | HopReceived
  | HopDropped
  | HopExpired
  | HopDeleted
  | QueueFrozen
  | QueueUnfrozen
  | LinkDown
  | LinkUp
  | ChangeMade
  | ItemExpired
  | ItemRecovered
  | VersionApplied
  | VersionIgnored
  | VersionHeld
  | VersionDropped
  | VersionFailed
  | ConflictAged
  | ConflictArose
  | ConflictEnded
  | ConflictNotice
  | TombstoneMade
  | TombstoneDropped
  | RowReplaced
  | EntryMade
  | EntrySatisfied
  | EntryPruned
  | EntryTimedOut
  | RequestSent
  | RequestEnded
  | RequestDeferred
  | ContentSuspended
  | ContentResumed
  | RequestRefused
  | ExpiredEverywhere
  | RequestAnswered
  | SourcesConsidered
  | RespondersConsidered
  | SourceDown
  | SourceUp
  | StatusDue
  | StatusMissed
  | StatusOrdered
  | ChangesResent
  | ReplicaAdded
  | ReplicaPending
  | ReplicaDropped
  | AddressStamped
  | AddressMissing
  | AddressLacking
  | TreeLinked
  | TreeLacking
  | StoreDeleted
  | Loss
  | FolderShown
  | FolderMoved
  | FolderHidden
  | PostRefused;

/** The event with a type, such as `change.made`. */
export type EventOf<T extends LabEvent["type"]> = Extract<LabEvent, { type: T }>;
