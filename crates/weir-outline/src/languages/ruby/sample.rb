# frozen_string_literal: true

# Reads mail from a folder. Every message is read once.
require "set"
require_relative "folder"

module Mail
  VERSION = "2.1.0"
  HEADERS = %w[From To Subject Date Message-Id In-Reply-To References Received Return-Path].freeze

  # A message that cannot be read.
  class BadMessage < StandardError; end

  ##
  # One message.
  class Message < Struct.new(:head, :body)
    include Comparable
    extend Forwardable

    attr_reader :subject, :from
    attr_accessor :read
    attr_writer :flags
    def_delegators :@head, :size, :empty?

    DEFAULT = new

    # Reads a message from text.
    #
    # @param text [String] the text
    def self.parse(text, strict: false, **options, &block)
      new(text)
    end

    def initialize(text, folder = nil, *rest)
      @text = text
    end

    # Whether it was read.
    def read? = @read

    def <=>(other)
      date <=> other.date
    end

    def []=(name, value)
      @head[name] = value
    end

    alias_method :seen?, :read?
    alias size length

    class << self
      # Makes an empty one.
      def empty
        new("")
      end

      private

      def secret
      end
    end

    protected

    def date
      @date ||= Time.now
    end

    private

    def cut(text)
      text.lines
    end

    attr_reader :raw
  end

  class Folder
    def each
      yield 1
    end

    def shown; end

    def hide
      1
    end
    private :hide

    private def inner(value) = value

    private_class_method def self.made
    end

    class Index
      def find(name) = nil
    end
  end

  class Folder::Trash < Folder
    private

    def sweep
    end

    public

    def empty!
    end
  end

  def self.open(path)
    Folder.new(path)
  end

  module_function

  def helper
  end

  Point = Struct.new(:x, :y) do
    def length
      x + y
    end
  end
end

def top_level(name:, count: 1)
  name * count
end
