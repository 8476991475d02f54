"""What a host says of itself: kernel, memory, processor, bus, power, cooling, processes, limits, disks."""
