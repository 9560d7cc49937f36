"""The command line: settings, commands, configuration files, progress bars."""
