# Runs a command in the namespaces of a devbox, as its user, under its seccomp filter. Replaces nsenter, setsid and two
# shells: each costs about 1 ms per command, and none can apply the filter before the fork makes the process visible in
# the devbox.
my ($numbers, $filter, $user, $rights, $through, $init, $kinds, $tty, @command) = @ARGV;
my %call;
@call{qw(setns unshare mount prctl setgroups setresgid setresuid setsid seccomp prlimit64 close)} = map { $_ + 0 } split /,/, $numbers;

sub fail { print STDERR "devdeck: $_[0]: $!\n"; exit 126 }
sub call { my ($name, @arguments) = @_; syscall($call{$name}, @arguments) != -1 or fail($name) }
sub opened { my ($pid, $kind) = @_; open(my $file, '<', "/proc/$pid/ns/$kind") or fail("the devbox's $kind namespace"); $file }

# Number of files to keep open, then cgroup files and limits, one per line.
my ($kept, @limits) = split /\n/, delete $ENV{DEVDECK_LAUNCH};
opendir(my $descriptors, '/proc/self/fd') or fail('/proc/self/fd');
my @surplus = grep { /^\d+$/ && $_ >= $kept && $_ != fileno($descriptors) } readdir($descriptors);
closedir($descriptors);
syscall($call{close}, $_ + 0) for @surplus;
umask(022);
for my $limit (@limits) {
  if ($limit =~ /^-(\w) (\d+)$/) {
    my ($resource, $unit) = @{{f => [1, 1024], d => [2, 1024], u => [6, 1]}->{$1}};
    # An existing lower limit stays.
    syscall($call{prlimit64}, 0, $resource, pack('QQ', ($2 * $unit) x 2), 0);
  } else {
    open(my $file, '>', $limit) or fail($limit);
    syswrite($file, '0') or fail($limit);
  }
}
# Devboxes are killed before the service when the host runs out of memory.
if (open(my $score, '>', '/proc/self/oom_score_adj')) { syswrite($score, '500') }

# Unprivileged users must enter through the user namespace they own.
call('setns', fileno(opened($through, 'user')), 0) if $through ne '';
# Drop the service's groups. Unprivileged users can't.
call('setgroups', 0, 0) if $user ne '';
# Open all first: entering the mount namespace replaces /proc.
call('setns', fileno($_), 0) for map { opened($init, $_) } split /,/, $kinds;
# PR_CAPBSET_DROP. Unknown numbers fail harmlessly.
if ($rights ne '') {
  my %kept = map { $_ => 1 } split /,/, $rights;
  for my $right (0 .. 63) { syscall($call{prctl}, 24, $right, 0, 0, 0) unless $kept{$right} }
}
if ($user ne '') {
  call('setresgid', ($user + 0) x 3);
  call('setresuid', ($user + 0) x 3);
}
# PR_SET_NO_NEW_PRIVS, then SECCOMP_SET_MODE_FILTER. SECCOMP_FILTER_FLAG_SPEC_ALLOW: otherwise some kernels disable
# speculation, which doubles the time of every command.
call('prctl', 38, 1, 0, 0, 0);
my $program = pack('H*', $filter);
call('seccomp', 1, 4, pack('Sx6P', length($program) / 8, $program)) if $program ne '';

# Only the child enters the pid namespace.
defined(my $child = fork) or fail('fork');
if ($child == 0) {
  call('setsid');
  if ($tty ne '') {
    # A session leader gets a controlling terminal by opening it.
    sysopen(my $terminal, $tty, 2) or fail($tty);
    open(STDIN, '<&', $terminal) and open(STDOUT, '>&', $terminal) and open(STDERR, '>&', $terminal) or fail($tty);
  }
  # The devbox's variables are prefixed so that LD_PRELOAD has no effect outside.
  for my $name (grep { /^DEVDECK_SET_/ } keys %ENV) { $ENV{substr($name, 12)} = delete $ENV{$name} }
  chdir($ENV{HOME});
  exec { $command[0] } @command;
  # ENOENT by number: Errno would load three modules per command.
  my $isMissing = $! == 2;
  print STDERR "devdeck: $command[0]: $!\n";
  exit($isMissing ? 127 : 126);
}
# Mirror a stopped command.
while (waitpid($child, 2) == $child && ($? & 0xff) == 0x7f) { kill('STOP', $$); kill('CONT', $child) }
my $signal = $? & 0x7f;
kill($signal, $$) if $signal;
exit($signal ? 128 + $signal : $? >> 8);
