# Starts bwrap as a dedicated user, or, if the service isn't root, as root of a user namespace with no other user.
# Called by `unshare --mount`, so mounts stay private. That user can't read the service's folders, so what the devbox
# needs is first bind-mounted below `place`, and overlays at `system`. Needs raw system calls: util-linux 2.38 can
# neither map a mount's users nor set an fsuid. Arguments: call numbers; first user or empty; number of users; place;
# number of sources and the sources; number of overlays and, for each, path, upper, work, number of layers and, top
# first, their kind, first user and folder; then the command.
my ($numbers, $user, $users, $place, $count, @rest) = @ARGV;
my @sources = splice(@rest, 0, $count);
my @overlays = map {
  my ($path, $upper, $work, $layers) = splice(@rest, 0, 4);
  {path => $path, upper => $upper, work => $work, layers => [map { [splice(@rest, 0, 3)] } 1 .. $layers]}
} 1 .. shift @rest;
my $isRoot = $user ne '';
# The service's umask would hide these folders from the user who mounts the public overlays.
umask(022);
my %call;
@call{qw(setns unshare mount prctl setgroups setresgid setresuid setsid seccomp prlimit64 close setfsuid setfsgid
  open_tree mount_setattr move_mount)} = map { $_ + 0 } split /,/, $numbers;

sub fail { print STDERR "devdeck: $_[0]: $!\n"; exit 126 }
sub call { my ($name, @arguments) = @_; my $result = syscall($call{$name}, @arguments); $result != -1 or fail($name); $result }
sub write_to {
  my ($path, $text) = @_;
  open(my $file, '>', $path) or fail($path);
  defined(syswrite($file, $text)) && close($file) or fail($path);
}
# O_PATH
sub opened { my ($path) = @_; sysopen(my $file, $path, 0x200000) or fail($path); $file }
sub path_of { '/proc/self/fd/' . fileno($_[0]) }
sub new_folder { my ($path) = @_; mkdir($path, 0755) or fail($path); $path }

# A user namespace that maps host users from `first` to the devbox's. A child process creates it, since only an outside
# process can map other users; the open file keeps it alive.
my %users_from;
sub users_from {
  my ($first) = @_;
  return $users_from{$first} if $users_from{$first};
  pipe(my $made, my $making) or fail('pipe');
  pipe(my $over, my $ending) or fail('pipe');
  defined(my $child = fork) or fail('fork');
  if ($child == 0) {
    close($ending);
    # CLONE_NEWUSER
    call('unshare', 0x10000000);
    syswrite($making, 'x');
    sysread($over, my $byte, 1);
    exit(0);
  }
  close($making);
  sysread($made, my $byte, 1);
  write_to("/proc/$child/setgroups", 'deny') if $users == 1;
  write_to("/proc/$child/$_", "$first $user $users") for qw(gid_map uid_map);
  open(my $namespace, '<', "/proc/$child/ns/user") or fail('user namespace');
  close($ending);
  waitpid($child, 0);
  $users_from{$first} = $namespace
}

# An idmapped copy of a folder's mount: OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC, then MOUNT_ATTR_IDMAP with AT_EMPTY_PATH.
sub mapped_tree {
  my ($first, $folder) = @_;
  my $tree = call('open_tree', -100, $folder, 1 | 02000000);
  call('mount_setattr', $tree, '', 0x1000, pack('Q4', 0x100000, 0, 0, fileno(users_from($first))), 32);
  $tree
}

# An overlay accesses its layers with the rights of the user who mounted it. Mounted by a user without rights, it
# exposes only world-readable files, even when modes change later. The devbox's root still owns the files and can
# replace them in its own layer.
sub mount_public {
  my ($folder, $how, $at) = @_;
  # An otherwise unused uid; leaving uid 0 drops the file capabilities.
  if ($isRoot) { call($_, 0x6fffffff) for qw(setfsgid setfsuid) }
  # MS_RDONLY. Without an upper layer the kernel requires two lower ones. The folder is the last, since in others the
  # kernel can't look up a folder that it can't read, and then nothing can be mounted there.
  call('mount', 'devdeck', $at, 'overlay', 1, "${how}lowerdir=$place/empty:$folder");
  if ($isRoot) { call($_, 0) for qw(setfsuid setfsgid) }
}

# Drop the service's groups. Unprivileged users can't.
call('setgroups', 0, 0) if $isRoot;
# Open all first, since `place` may hide some.
my @opened = map { opened($_) } @sources;
for my $overlay (@overlays) {
  $overlay->{$_} = opened($overlay->{$_}) for qw(upper work);
  for (@{$overlay->{layers}}) {
    my ($kind, $first, $folder) = @$_;
    $_ = {isPublic => $kind eq 'public', $isRoot ? (tree => mapped_tree($first, $folder)) : (file => opened($folder))};
  }
}
call('mount', 'devdeck', $place, 'tmpfs', 0, 'mode=755,size=64k');
for my $i (0 .. $#opened) {
  my ($source, $target) = (path_of($opened[$i]), "$place/$i");
  if (-d $source) { new_folder($target) } else { write_to($target, '') }
  # MS_BIND | MS_REC
  call('mount', $source, $target, 0, 0x5000, 0);
}
if (@overlays) { new_folder("$place/$_") for qw(system empty) }
# Only host root may use trusted.* attributes; others use user.*.
my $how = $isRoot ? '' : 'userxattr,';
my $number = 0;
for my $overlay (@overlays) {
  my @lower = map {
    my $at = $_->{file} ? path_of($_->{file}) : new_folder("$place/layer" . $number++);
    # MOVE_MOUNT_F_EMPTY_PATH
    call('move_mount', $_->{tree}, '', -100, $at, 4) if $_->{tree};
    if ($_->{isPublic}) {
      my $public = new_folder("$place/public" . $number++);
      mount_public($at, $how, $public);
      $at = $public;
    }
    $at
  } @{$overlay->{layers}};
  my ($upper, $work) = map { path_of($overlay->{$_}) } qw(upper work);
  my $options = "${how}lowerdir=" . join(':', @lower) . ",upperdir=$upper,workdir=$work";
  call('mount', 'devdeck', "$place/system$overlay->{path}", 'overlay', 0, $options);
}
chdir('/');
if ($isRoot) {
  # CLONE_NEWUSER
  call('setns', fileno(users_from(0)), 0x10000000);
  call('setresgid', 0, 0, 0);
  call('setresuid', 0, 0, 0);
}
# Root of a devbox system keeps capabilities, so forbid further user namespaces.
write_to('/proc/sys/user/max_user_namespaces', '0') if @overlays;
exec { $rest[0] } @rest;
fail($rest[0]);
