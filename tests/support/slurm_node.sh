#!/usr/bin/env bash
# Starts a Slurm of one node in FOLDER, as root on Debian, for tests/sweep/test_sweep_slurm.py: slurm_node.sh FOLDER
# Afterwards: export SLURM_CONF=FOLDER/slurm.conf; kill $(cat FOLDER/*.pid) ends it.
set -euo pipefail
folder=$(mkdir -p "$1" && cd "$1" && pwd)
if ! command -v slurmctld slurmd munged >/dev/null; then
  apt-get update -qq && apt-get install -y -qq --no-install-recommends slurm-wlm munge >/dev/null
fi
node=$(hostname -s)
export SLURM_CONF=$folder/slurm.conf
cat >"$SLURM_CONF" <<CONF
ClusterName=tests
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=26817
SlurmUser=root
AuthInfo=socket=$folder/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
KillWait=3
NodeName=$node NodeAddr=127.0.0.1 Port=26818 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
mkdir -p "$folder/state" "$folder/spool"
head -c 128 /dev/urandom >"$folder/munge.key" && chmod 600 "$folder/munge.key"
munged --force --socket="$folder/munge.socket" --key-file="$folder/munge.key" --pid-file="$folder/munged.pid" \
  --log-file="$folder/munged.log" --seed-file="$folder/munge.seed" 2>/dev/null
slurmctld
slurmd -N "$node"
for _ in $(seq 30); do
  sinfo --noheader --states=idle 2>/dev/null | grep -q idle && exit 0
  sleep 1
done
echo "no Slurm node after 30 s"; tail -n 3 "$folder"/*.log
exit 1
